#!/bin/bash
# On a node.
#SBATCH -w a1
echo ran
