#!/bin/sh
# One study over the nodes of a cluster: task i of the array collects shard i.
#   sbatch --array=1-4 slurm-array.sh PLAN RESULTS
# A retry (scontrol requeue) starts a new bag: the one cut off stays beside it as
# shard-I.JOB.RESTART.partial.
#SBATCH --job-name=pairbench
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
set -eu
plan=$1
results=$2
shard=$results/shard-$SLURM_ARRAY_TASK_ID
attempt=$shard.$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}
mkdir -p "$results"
pairbench collect --shard auto --out "$attempt" "$plan"
mv -n "$attempt" "$shard"
