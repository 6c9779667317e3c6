#!/bin/bash
# Is ended by a signal.
#SBATCH -t 5
kill -SEGV $$
