#!/bin/sh
# One study over the nodes of a cluster: task i of the array collects shard i.
#   sbatch --array=1-4 slurm-array.sh PLAN RESULTS
# A retry (scontrol requeue) starts a new bag: the one cut off stays beside it as
# attempt-I.JOB.RESTART.partial. Some shards again, in a job of their own:
#   PAIRBENCH_SHARD_COUNT=4 sbatch --array=3 slurm-array.sh PLAN RESULTS
#SBATCH --job-name=pairbench
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
set -eu
plan=$1
results=$2
shard=$results/shard-$SLURM_ARRAY_TASK_ID
attempt=$results/attempt-$SLURM_ARRAY_TASK_ID.$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}
[ ! -e "$shard" ] || exit 0 # complete: a retry that came too late
mkdir -p "$results"
pairbench collect --shard auto --out "$attempt" "$plan"
mv -T "$attempt" "$shard" # never into a bag that is there
