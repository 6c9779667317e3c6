#!/bin/sh
#SBATCH --output=%x-%j.out
echo "$SWITCHYARD_COMPONENT starts at $SWITCHYARD_EXEC_SITE on $SWITCHYARD_CPUS CPUs, $(date +%T.%N)"
awk 'BEGIN { for (i = 0; i < 30000000; i++) s += i }'
