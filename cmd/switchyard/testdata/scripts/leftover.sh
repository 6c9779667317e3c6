#!/bin/bash
# Leaves a process behind.
#SBATCH -t 5
sleep 301 &
echo over
