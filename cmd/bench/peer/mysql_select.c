/*
 * A C client of MariaDB that does what the workload mysql_text does: text
 * SELECTs of a constant over verified TLS, a fixed number of blocking
 * connections with a thread each, the reply compared byte for byte.
 *
 * usage: mysql_select HOST PORT CA USER DATABASE PAYLOAD CONNECTIONS MILLISECONDS
 * The password is in PAIRBENCH_SERVICE_PASSWORD. Prints {"rate": N}.
 */
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *host, *ca, *user, *database, *password;
static unsigned port;
static size_t payload;
static double limit_s;
static pthread_barrier_t start;

struct client {
	pthread_t thread;
	long done;
	double seconds;
	char error[512];
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int query(MYSQL *m, const char *text, size_t length, const char *want)
{
	if (mysql_real_query(m, text, length) != 0)
		return -1;
	MYSQL_RES *result = mysql_store_result(m);
	if (result == NULL)
		return -1;
	MYSQL_ROW row = mysql_fetch_row(result);
	unsigned long *lengths = mysql_fetch_lengths(result);
	int ok = row != NULL && lengths[0] == payload && memcmp(row[0], want, payload) == 0;
	mysql_free_result(result);
	return ok ? 0 : -1;
}

static void *run(void *argument)
{
	struct client *c = argument;
	MYSQL *m = mysql_init(NULL);
	my_bool yes = 1;
	mysql_optionsv(m, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
	mysql_ssl_set(m, NULL, NULL, ca, NULL, NULL);
	char *text = malloc(payload + 16);
	size_t length = sprintf(text, "SELECT '");
	const char *want = text + length;
	for (size_t i = 0; i < payload; i++)
		text[length++] = 'a' + i % 26;
	text[length++] = '\'';
	int ok = mysql_real_connect(m, host, user, password, database, port, NULL, 0) != NULL;
	if (ok && mysql_get_ssl_cipher(m) == NULL)
		snprintf(c->error, sizeof c->error, "the session is not encrypted"), ok = 0;
	for (int i = 0; ok && i < 500; i++)
		ok = query(m, text, length, want) == 0;
	pthread_barrier_wait(&start);
	double begin = now(), end = begin;
	while (ok && end - begin < limit_s) {
		for (int i = 0; ok && i < 16; i++, c->done++)
			ok = query(m, text, length, want) == 0;
		end = now();
	}
	c->seconds = end - begin;
	if (!ok && c->error[0] == 0)
		snprintf(c->error, sizeof c->error, "%s (or a wrong reply)", mysql_error(m));
	mysql_close(m);
	free(text);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 9) {
		fprintf(stderr, "usage: %s HOST PORT CA USER DATABASE PAYLOAD CONNECTIONS MILLISECONDS\n", argv[0]);
		return 2;
	}
	host = argv[1], port = atoi(argv[2]), ca = argv[3], user = argv[4], database = argv[5];
	payload = atol(argv[6]);
	int connections = atoi(argv[7]);
	limit_s = atol(argv[8]) / 1e3;
	password = getenv("PAIRBENCH_SERVICE_PASSWORD");
	mysql_library_init(0, NULL, NULL);
	pthread_barrier_init(&start, NULL, connections);
	struct client *clients = calloc(connections, sizeof *clients);
	for (int i = 0; i < connections; i++)
		pthread_create(&clients[i].thread, NULL, run, &clients[i]);
	double rate = 0;
	for (int i = 0; i < connections; i++) {
		pthread_join(clients[i].thread, NULL);
		if (clients[i].error[0] != 0) {
			fprintf(stderr, "connection %d: %s\n", i, clients[i].error);
			return 1;
		}
		rate += clients[i].done / clients[i].seconds;
	}
	printf("{\"rate\": %.1f}\n", rate);
	return 0;
}
