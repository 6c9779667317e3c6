# As the workflow tool toil submits.
sbatch --wait -J toil_job_1 -o toil_job.%j.out.log -e toil_job.%j.err.log --mem=100 --cpus-per-task=1 --export=ALL,NEW=1 --partition=batch \
	--wrap="exec sh -c 'echo \$NEW \$FOO; exit 2'"
