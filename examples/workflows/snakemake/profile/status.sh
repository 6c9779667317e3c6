#!/bin/sh
# status.sh JOB: what Snakemake is to know of a job.
case $(sacct --allocations --noheader --parsable2 --format=State --jobs="$1") in
COMPLETED) echo success ;;
PENDING | REQUEUED | RUNNING | SUSPENDED | '') echo running ;;
*) echo failed ;;
esac
