# Time limits in all forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on.
for limit in 5 5:30 0:05:00 0-1 0-1:5 0-00:05:00
do sbatch --wait -t $limit -o time-$limit.txt --wrap 'scontrol show job -o $SLURM_JOB_ID | grep -o "TimeLimit=[^ ]*"' &
done
wait
