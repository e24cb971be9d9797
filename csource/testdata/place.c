/* Reads a topology from the file FILE, and prints the place of each host. */
#include "layout.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

void *allocate(size_t n, size_t bytes) { return calloc(n, bytes); }

int main(int argc, char **argv)
{
    char text[4096], why[WHY] = "";
    FILE *f = fopen(argv[1], "r");
    if (f == NULL)
        return 1;
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    if (topology_read(text, n, why)) {
        puts(why);
        return 1;
    }
    for (int i = 2; i < argc; i++)
        printf("%d\n", topology_place(argv[i]));
    return fclose(f);
}
