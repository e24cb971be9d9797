/* select: follows statements of its input and answers each with a line.
 *
 *   list                       the repository, a line for each algorithm and an empty one
 *   text BYTES, then the text  taken, or refused and why
 *   ask COLLECTIVE RANKS PPN ORDERS BYTES
 *                              orders as bits of tutti.h: what the last table selects, and what a call of it would run */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list(void)
{
    static const char *const names[] = {"pow2", "even", "commutative", "count_ge_size", "count_ge_pof2"};
    for (const algorithm *a = repository; a->name != NULL; a++) {
        printf("%s,%s,%s,", collective_name(a->what), a->name, a->parameter == NULL ? "" : a->parameter);
        for (unsigned i = 0, n = 0; i < 5; i++)
            if (a->needs & 1u << i)
                printf("%s%s", n++ ? ";" : "", names[i]);
        printf("\n");
    }
    printf("\n");
}

static void text(void)
{
    char why[WHY] = "";
    size_t n;
    if (scanf("%zu", &n) != 1 || getchar() != '\n')
        exit(1);
    char *table = allocate(n + 1, 1);
    if (fread(table, 1, n, stdin) != n)
        exit(1);
    if (table_read(table, n, why))
        printf("refused %s\n", why);
    else
        printf("taken\n");
    free(table);
}

static void show(const pick *p)
{
    printf("%s", p->algorithm == NULL ? "library_default" : p->algorithm->name);
    if (p->parameter > 0)
        printf("(%s=%d)", p->algorithm->parameter, p->parameter);
}

static void ask(void)
{
    static const pick none;
    char name[32];
    int ranks, ppn, what = 0;
    unsigned orders;
    unsigned long long bytes;
    if (scanf("%31s %d %d %u %llu", name, &ranks, &ppn, &orders, &bytes) != 5)
        exit(1);
    while (what < COLLECTIVES && strcmp(collective_name((collective)what), name) != 0)
        what++;
    pick found = table_find((collective)what, ranks, ppn, orders, bytes);
    struct row *r = table_row((collective)what, ranks, ppn, orders);
    show(&found);
    printf(" ");
    show(r == NULL ? &none : row_pick(r, bytes));
    printf("\n");
    free(r);
}

int main(void)
{
    char word[8];
    while (scanf("%7s", word) == 1)
        if (strcmp(word, "list") == 0)
            list();
        else if (strcmp(word, "text") == 0)
            text();
        else
            ask();
    return 0;
}
