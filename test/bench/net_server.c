/* net_server: an HTTP server on the loopback that costs as little as one can, for the network benches. Prints its port; a thread a connection.
 * /small is a few bytes; /big/N is N bytes. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool say(int fd, const char *data, size_t n)
{
    while (n) {
        ssize_t k = send(fd, data, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        data += k;
        n -= (size_t)k;
    }
    return true;
}

static bool answer(int fd, const char *request)
{
    static const char small[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n";
    static char block[1 << 18];
    const char *big = strstr(request, " /big/");
    char head[128];
    if (!big)
        return say(fd, small, sizeof small - 1);
    unsigned long long left = strtoull(big + 6, NULL, 10);
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %llu\r\n\r\n", left);
    bool good = say(fd, head, (size_t)n);
    for (; good && left; left -= left < sizeof block ? left : sizeof block)
        good = say(fd, block, left < sizeof block ? (size_t)left : sizeof block);
    return good;
}

static void *serve(void *arg)
{
    int fd = (int)(intptr_t)arg, one = 1;
    char request[16384];
    size_t n = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (ssize_t k; (k = recv(fd, request + n, sizeof request - n - 1, 0)) > 0;) {
        n += (size_t)k;
        request[n] = 0;
        if (!strstr(request, "\r\n\r\n"))
            continue;
        if (!answer(fd, request))
            break;
        n = 0;
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 64) || getsockname(listener, (struct sockaddr *)&a, &len))
        return 1;
    printf("%u\n", ntohs(a.sin_port));
    fflush(stdout);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        pthread_t t;
        if (pthread_create(&t, NULL, serve, (void *)(intptr_t)fd))
            return 1;
        pthread_detach(t);
    }
    return 0;
}
