# A script that has Slurm start it again, as those with checkpoints do.
cat >job.sh <<'END'
#!/bin/bash
#SBATCH --requeue --open-mode=append -o rounds.txt
echo "round ${SLURM_RESTART_COUNT:-0}"
[ ${SLURM_RESTART_COUNT:-0} -ge 1 ] || { scontrol requeue $SLURM_JOB_ID && sleep 60; }
END
sbatch --wait job.sh # which may end with the first round
for i in $(seq 300)
do grep -qs 'round 1\|disabled' rounds.txt && break || sleep .1
done
