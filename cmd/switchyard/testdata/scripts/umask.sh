# A umask of the submission.
umask 027
cat >job.sh <<'END'
#!/bin/bash
umask
touch new && stat -c %A new
END
sbatch --wait job.sh
