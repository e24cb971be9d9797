/* A test double of the readers of tuner files. It follows the rules that the READMEs of NCCL's example plugin and of
 * RCCL's tuner state: comma-separated fields, comments with #, 8 fields or more, -1 for any, the first row that fits
 * counts. For each line "COLLECTIVE BYTES NODES RANKS" of standard input it prints "ALGORITHM PROTOCOL CHANNELS". Without
 * a row that fits it prints "none". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char collective[64], algorithm[64], protocol[64];
    unsigned long long low, high;
    long channels, nodes, ranks;
} row;

static int split(char *line, char **field, int most)
{
    int n = 0;
    for (char *at = strtok(line, ",\n"); at != NULL && n < most; at = strtok(NULL, ",\n"))
        field[n++] = at;
    return n;
}

int main(int argc, char **argv)
{
    static row rows[4096];
    char line[256], *f[16];
    int n = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (file == NULL)
        return 2;
    while (fgets(line, sizeof line, file) != NULL && n < 4096) {
        if (line[0] == '#' || line[0] == '\n' || split(line, f, 16) < 8)
            continue;
        row *r = &rows[n++];
        snprintf(r->collective, sizeof r->collective, "%s", f[0]);
        snprintf(r->algorithm, sizeof r->algorithm, "%s", f[3]);
        snprintf(r->protocol, sizeof r->protocol, "%s", f[4]);
        r->low = strtoull(f[1], NULL, 10), r->high = strtoull(f[2], NULL, 10);
        r->channels = atol(f[5]), r->nodes = atol(f[6]), r->ranks = atol(f[7]);
    }
    fclose(file);
    char collective[64];
    unsigned long long bytes;
    long nodes, ranks;
    while (scanf("%63s %llu %ld %ld", collective, &bytes, &nodes, &ranks) == 4) {
        int i = 0;
        while (i < n && (strcmp(rows[i].collective, collective) != 0 || bytes < rows[i].low || bytes > rows[i].high ||
                         (rows[i].nodes != -1 && rows[i].nodes != nodes) || (rows[i].ranks != -1 && rows[i].ranks != ranks)))
            i++;
        if (i < n)
            printf("%s %s %ld\n", rows[i].algorithm, rows[i].protocol, rows[i].channels);
        else
            printf("none\n");
    }
    return 0;
}
