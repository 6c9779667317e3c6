#!/bin/sh
# Each input is a job, of at most 20 at once. parallel exits with the number of jobs that have failed.
set -e
job='sbatch --quiet --wait --ntasks=1 --time=10'
parallel --jobs 20 "$job --job-name={/.} --output=output/{/.}.log --wrap='./count.sh {} output/{/.}.count'" ::: input/*.txt
$job --job-name=total --output=output/total.log --wrap='./total.sh output/*.count >total'
