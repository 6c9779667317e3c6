# Waits until its user releases it.
cat >job.sh <<'END'
#!/bin/bash
echo ran
END
sbatch -H job.sh
