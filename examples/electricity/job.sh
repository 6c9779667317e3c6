#!/bin/sh
#SBATCH --job-name=sum --ntasks=1 --time=5
#SWITCHYARD --power-share=80% --stage-in-size=200M
awk 'BEGIN { for (i = 1; i <= 100000; i++) s += i; print s }'
