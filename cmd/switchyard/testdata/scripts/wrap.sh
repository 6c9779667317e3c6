# A command instead of a script.
sbatch --wait --wrap='echo "FOO is $FOO" >answer.txt'
