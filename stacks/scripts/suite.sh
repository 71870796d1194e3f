#!/bin/sh
# Runs the jobs of a performance suite one after another, all of them HPC_REPEATS times, and deletes rounds beyond the
# HPC_KEEP newest. Repeats of one job have the other jobs between them, so that a disturbance of minutes is in one of them.
#
# HPC_FOLDER has a manifest for each job, and the file `plan`, a line for each: manifest, resource, name, seconds to wait
# for, and the labels suite-job of its objects. In manifests and names yymmddhhmm-n stands for the round and the repeat.
# HPC_RESOURCES are the kinds that are created, HPC_POLL the seconds between two queries.
# Exit status 1: a run failed, came too late, or could not be created.
set -eu

oc=$(command -v oc || command -v kubectl)
round=$(date -u +%y%m%d%H%M)
failed=0

cluster() {
    "$oc" --namespace "$HPC_NAMESPACE" "$@"
}

state() { # resource name: how it has ended; nothing while it runs, or when the server does not answer
    cluster get "$1" "$2" -o 'jsonpath={range .status.conditions[?(@.status=="True")]}{.type}{"\n"}{end}' |
        grep -Ex 'Complete|Succeeded|Failed' | head -n 1 || true
}

run() { # manifest resource name seconds jobs
    name=$(printf '%s' "$3" | sed "s/yymmddhhmm-n/$round-$repeat/")
    echo "hpc-suite: $name starts, repeat $repeat of $HPC_REPEATS"
    if ! sed -e "s/yymmddhhmm-n/$round-$repeat/g" -e "s/yymmddhhmm/$round/g" "$HPC_FOLDER/$1" | cluster create -f -; then
        echo "hpc-suite: $name could not be created"
        return 1
    fi
    waited=0
    while ended=$(state "$2" "$name") && [ -z "$ended" ]; do
        if [ "$waited" -ge "$4" ]; then
            echo "hpc-suite: $name has not ended after $4 s; it is deleted, so that it holds no GPUs"
            late="hpc.pulumi/suite=$HPC_SUITE,hpc.pulumi/suite-run=$round-$repeat,hpc.pulumi/suite-job in ($5)"
            cluster delete "$HPC_RESOURCES" -l "$late" --wait=false
            return 1
        fi
        sleep "$HPC_POLL"
        waited=$((waited + HPC_POLL))
    done
    echo "hpc-suite: $name ended: $ended"
    [ "$ended" != Failed ]
}

repeat=1
while [ "$repeat" -le "$HPC_REPEATS" ]; do
    while read -r manifest resource name seconds jobs <&3; do
        run "$manifest" "$resource" "$name" "$seconds" "$jobs" || failed=$((failed + 1))
    done 3<"$HPC_FOLDER/plan"
    repeat=$((repeat + 1))
done

rounds=$(cluster get "$HPC_RESOURCES" -l "hpc.pulumi/suite=$HPC_SUITE" \
    -o 'jsonpath={range .items[*]}{.metadata.labels.hpc\.pulumi/suite-round}{"\n"}{end}' | sort -ru)
for old in $(printf '%s\n' "$rounds" | tail -n "+$((HPC_KEEP + 1))"); do
    echo "hpc-suite: round $old is deleted: $HPC_KEEP newer ones are kept"
    cluster delete "$HPC_RESOURCES" -l "hpc.pulumi/suite=$HPC_SUITE,hpc.pulumi/suite-round=$old" --wait=false
done
echo "hpc-suite: round $round ended, $failed of its runs failed"
[ "$failed" -eq 0 ]
