/* Boundary and depth in plain C, one thread: what benchmarks/depth.py measures the package against.
   Sparse graphs are searched region by region, dense ones level by level in both directions. */
#include <stdint.h>
#include <stdlib.h>

#define UNSEEN 0xFFFFFFFFu
#define FAR 32
#define MIDDLE 16
#define NEAR 8
#define SWITCH 4

typedef uint32_t u32;
typedef uint64_t u64;

static void mark(const u32 *offsets, const u32 *targets, const uint16_t *region, u32 *steps, u64 nodes) {
    for (u64 node = 0; node < nodes; node++) {
        uint16_t own = region[node];
        steps[node] = UNSEEN;
        for (u64 edge = offsets[node]; edge < offsets[node + 1]; edge++)
            if (region[targets[edge]] != own) {
                steps[node] = 0;
                break;
            }
    }
}

static void search(const u32 *offsets, const u32 *targets, u32 *steps, u32 *queue, u64 filled) {
    u64 head = 0, tail = filled;
    for (u32 level = 1; head < tail; level++)
        for (u64 stop = tail; head < stop; head++) {
            if (head + FAR < tail) {
                __builtin_prefetch(&offsets[queue[head + FAR]], 0, 3);
                __builtin_prefetch(&targets[offsets[queue[head + MIDDLE]]], 0, 3);
                u64 soon = queue[head + NEAR];
                for (u64 edge = offsets[soon]; edge < offsets[soon + 1]; edge++)
                    __builtin_prefetch(&steps[targets[edge]], 0, 3);
            }
            u64 node = queue[head];
            for (u64 edge = offsets[node]; edge < offsets[node + 1]; edge++) {
                u32 near = targets[edge];
                if (steps[near] == UNSEEN) {
                    steps[near] = level;
                    queue[tail++] = near;
                }
            }
        }
}

void depth_by_regions(const u32 *offsets, const u32 *targets, const uint16_t *region, u32 *steps,
                      u64 nodes, u64 regions) {
    mark(offsets, targets, region, steps, nodes);
    u32 *sizes = calloc(regions, sizeof *sizes), *starts = calloc(regions + 1, sizeof *starts);
    for (u64 node = 0; node < nodes; node++) {
        sizes[region[node]]++;
        starts[region[node] + 1] += steps[node] == 0;
    }
    u64 largest = 0;
    for (u64 number = 0; number < regions; number++) {
        starts[number + 1] += starts[number];
        if (sizes[number] > largest) largest = sizes[number];
        sizes[number] = starts[number];
    }
    u32 *heads = malloc(starts[regions] * sizeof *heads + 1), *queue = malloc(largest * sizeof *queue + 1);
    for (u64 node = 0; node < nodes; node++)
        if (steps[node] == 0) heads[sizes[region[node]]++] = (u32)node;
    for (u64 number = 0; number < regions; number++) {
        u64 filled = 0;
        for (u64 place = starts[number]; place < starts[number + 1]; place++) queue[filled++] = heads[place];
        search(offsets, targets, steps, queue, filled);
    }
    free(sizes), free(starts), free(heads), free(queue);
}

void depth_by_levels(const u32 *offsets, const u32 *targets, const uint16_t *region, u32 *steps,
                     u64 nodes, u64 regions) {
    (void)regions;
    mark(offsets, targets, region, steps, nodes);
    u32 *queue = malloc(nodes * sizeof *queue + 1), *waiting = malloc(nodes * sizeof *waiting + 1);
    u64 count = 0, front = 0, left = 0;
    for (u64 node = 0; node < nodes; node++) {
        u64 degree = offsets[node + 1] - offsets[node];
        if (steps[node] == 0) front += degree;
        else waiting[count++] = (u32)node, left += degree;
    }
    for (u32 level = 1; front; level++) {
        u64 found = 0;
        if (front * SWITCH > left) {
            u64 kept = 0;
            for (u64 place = 0; place < count; place++) {
                u64 node = waiting[place], edge = offsets[node], stop = offsets[node + 1];
                if (steps[node] != UNSEEN) continue;
                while (edge < stop && steps[targets[edge]] != level - 1) edge++;
                if (edge < stop) steps[node] = level, found += stop - offsets[node];
                else waiting[kept++] = (u32)node;
            }
            count = kept;
        } else {
            u64 filled = 0;
            for (u64 node = 0; node < nodes; node++)
                if (steps[node] == level - 1) queue[filled++] = (u32)node;
            for (u64 place = 0; place < filled; place++)
                for (u64 edge = offsets[queue[place]]; edge < offsets[queue[place] + 1]; edge++) {
                    u32 near = targets[edge];
                    if (steps[near] == UNSEEN) steps[near] = level, found += offsets[near + 1] - offsets[near];
                }
        }
        left -= found;
        front = found;
    }
    free(queue), free(waiting);
}
