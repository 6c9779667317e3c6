"""Counts the primes of input/*.txt: each function is a job."""
import glob
import os
import subprocess

from toil.common import Toil
from toil.job import Job


def count(directory, part):
    subprocess.run(["./count.sh", f"input/{part}.txt", f"output/{part}.count"], cwd=directory, check=True)


def total(directory):
    subprocess.run("./total.sh output/*.count >total", shell=True, cwd=directory, check=True)


def workflow(directory):
    root = Job()
    for path in sorted(glob.glob("input/*.txt")):
        root.addChildFn(count, directory, os.path.basename(path)[:-len(".txt")])
    root.addFollowOnFn(total, directory)
    return root


if __name__ == "__main__":
    options = Job.Runner.getDefaultArgumentParser().parse_args()
    with Toil(options) as toil:
        if options.restart:
            toil.restart()
        else:
            toil.start(workflow(os.getcwd()))
