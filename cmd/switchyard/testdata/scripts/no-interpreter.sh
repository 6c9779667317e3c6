#!/no/such/interpreter
# An interpreter that is not there.
#SBATCH -t 5
echo ran
