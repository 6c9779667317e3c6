#!/bin/bash
# Wants a mail at its end.
#SBATCH --mail-type=END,FAIL --mail-user=ada@example.org
echo done
