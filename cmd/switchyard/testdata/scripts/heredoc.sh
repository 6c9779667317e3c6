# The script comes on the standard input.
sbatch --wait -J piped <<'END'
#!/bin/bash
#SBATCH -t 5
echo "$SLURM_JOB_NAME ran"
END
