#!/usr/bin/env perl
# Another interpreter than a shell.
#SBATCH -J perl -t 5
print "$ENV{SLURM_JOB_NAME}\n";
