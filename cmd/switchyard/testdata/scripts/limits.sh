# Resource limits of the submission.
ulimit -S -c 0; ulimit -S -n 512; ulimit -S -s 4096
cat >job.sh <<'END'
#!/bin/bash
echo "core $(ulimit -S -c), files $(ulimit -S -n), stack $(ulimit -S -s)"
END
sbatch --wait job.sh
