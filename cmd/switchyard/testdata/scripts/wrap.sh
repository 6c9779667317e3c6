# A command instead of a script.
sbatch --wait --wrap='echo "$FOO in $(basename "$PWD")" >answer.txt'
