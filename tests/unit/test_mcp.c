/* messages of the Model Context Protocol: requests, schemas, folders */
#include "mcp_inbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static char seen[2048]; /* the last command line */

static char sent[4096];  /* lines that the client got while a tool ran */
static const char *told; /* what the process tells of its progress */
static bool cancelled;   /* what the client sent */

/* stands for a client */
static bool look(void *context, const json_t *id)
{
    (void)context, (void)id;
    return !cancelled;
}

static void send_line(void *context, const char *line)
{
    (void)context;
    strcat(sent, line);
    strcat(sent, "\n");
}

/* stands for a process: prints its command line */
static flr_result pretend(const flr_mcp_limits *limits, const flr_mcp_call *call,
                          flr_mcp_watch *watch, flr_mcp_outcome *outcome, flr_error *error)
{
    (void)limits;
    seen[0] = sent[0] = 0;
    *outcome = (flr_mcp_outcome){0};
    for (const char *line = told; line && *line; line += strcspn(line, "\n") + 1)
        flr_mcp_tell(watch, line, strcspn(line, "\n"));
    if (!watch->client->look(watch->client->context, watch->id))
        return flr_fail(error, FLR_CANCELLED, "cancelled");
    for (int i = 0; call->import[0] && call->import[i]; i++) {
        strcat(seen, call->import[i]);
        strcat(seen, " ");
    }
    for (int i = 0; i < call->count; i++) {
        strcat(seen, call->arguments[i]);
        strcat(seen, " ");
    }
    *outcome = (flr_mcp_outcome){.output = strdup("printed"), .size = 7};
    if (call->file[0]) outcome->file = (uint8_t *)strdup("four"), outcome->file_size = 4;
    return FLR_OK;
}

typedef struct site {
    char *folder, *inside, *outside, *scene;
    flr_mcp mcp;
} site;

static char *joined(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void begin(site *s)
{
    s->folder = flr_test_folder();
    s->inside = joined(s->folder, "in");
    assert_int_equal(mkdir(s->inside, 0700), 0);
    s->outside = joined(s->folder, "secret.stl");
    s->scene = joined(s->inside, "scene.json");
    write_text(s->outside, "solid x\nendsolid x\n");
    char *part = joined(s->inside, "part.stl");
    write_text(part, "solid x\nendsolid x\n");
    free(part);
    write_text(s->scene, "{\"feeler\": 1, \"name\": \"s\", \"parts\": [{\"name\": \"p\", \"file\": "
                         "\"part.stl\"}]}");
    told = NULL;
    cancelled = false;
    s->mcp = (flr_mcp){.env = flr_env_real(),
                       .limits = {.seconds = 1, .memory = 1 << 20},
                       .run = pretend,
                       .client = {.input = -1, .look = look, .send = send_line}};
    s->mcp.limits.folders[s->mcp.limits.folder_count++] = realpath(s->inside, NULL);
}

static void end(site *s)
{
    free(s->mcp.limits.folders[0]);
    free(s->inside);
    free(s->outside);
    free(s->scene);
    flr_test_folder_remove(s->folder);
}

static json_t *ask(site *s, const char *request)
{
    char *line = flr_mcp_answer(&s->mcp, request, strlen(request));
    assert_non_null(line);
    assert_null(strchr(line, '\n'));
    json_t *answer = json_loads(line, 0, NULL);
    free(line);
    assert_non_null(answer);
    return answer;
}

static json_t *call(site *s, const char *tool, const char *arguments)
{
    char request[4096];
    snprintf(request, sizeof request,
             "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s}}",
             tool, arguments);
    json_t *answer = ask(s, request), *result = json_incref(json_object_get(answer, "result"));
    json_decref(answer);
    assert_non_null(result);
    return result;
}

static bool is_error(const json_t *result, const char *part)
{
    const char *text = json_string_value(
        json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
    return json_is_true(json_object_get(result, "isError")) && strstr(text, part);
}

static void requests_are_answered(void **state)
{
    (void)state;
    site s;
    begin(&s);
    json_t *a = ask(&s, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"initialize\",\"params\":{"
                        "\"protocolVersion\":\"2024-11-05\"}}");
    assert_string_equal(json_string_value(json_object_get(a, "id")), "x");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(a, "result"), "protocolVersion")),
        "2024-11-05");
    json_decref(a);
    a = ask(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"1999-01-01\"}}");
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(a, "result"), "protocolVersion")),
        "2025-06-18");
    json_decref(a);
    const char *note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    assert_null(flr_mcp_answer(&s.mcp, note, strlen(note)));
    const struct {
        const char *request;
        int code;
    } wrong[] = {{"{", -32700},
                 {"[]", -32600},
                 {"{\"id\":1,\"method\":\"ping\"}", -32600},
                 {"{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", -32600},
                 {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600},
                 {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nonsense\"}", -32601},
                 {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32602},
                 {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", -32602},
                 {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"rm\"}}",
                  -32602}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        a = ask(&s, wrong[i].request);
        assert_int_equal(json_integer_value(json_object_get(json_object_get(a, "error"), "code")),
                         wrong[i].code);
        json_decref(a);
    }
    end(&s);
}

static void schemas_come_from_the_tables(void **state)
{
    (void)state;
    json_t *list = flr_mcp_list(), *tool;
    size_t i;
    assert_true(json_array_size(list) >= 6);
    json_array_foreach(list, i, tool)
    {
        const json_t *schema = json_object_get(tool, "inputSchema");
        const json_t *properties = json_object_get(schema, "properties");
        assert_non_null(json_object_get(properties, "file"));
        if (strcmp(json_string_value(json_object_get(tool, "name")), "clashes") != 0) continue;
        const json_t *clearance = json_object_get(properties, "clearance");
        assert_string_equal(json_string_value(json_object_get(clearance, "type")), "string");
        assert_non_null(strstr(json_string_value(json_object_get(clearance, "description")),
                               "parts nearer than this"));
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(properties, "all"), "type")),
            "boolean");
    }
    json_decref(list);
}

static void arguments_become_a_command_line(void **state)
{
    (void)state;
    site s;
    begin(&s);
    json_t *r =
        call(&s, "clashes",
             "{\"file\":\"scene.json\",\"clearance\":\"1mm\",\"all\":true,\"apart\":false}");
    assert_true(json_is_false(json_object_get(r, "isError")));
    assert_non_null(strstr(seen, "clash --clearance=1mm --all --progress --json -- /"));
    json_decref(r);
    r = call(&s, "picture", "{\"file\":\"part.stl\"}");
    const json_t *image = json_array_get(json_object_get(r, "content"), 1);
    assert_string_equal(json_string_value(json_object_get(image, "data")), "Zm91cg==");
    assert_string_equal(json_string_value(json_object_get(image, "mimeType")), "image/png");
    json_decref(r);
    r = call(&s, "removal_path", "{\"file\":\"scene.json\",\"time\":2.5,\"seed\":7}");
    assert_non_null(strstr(seen, "--time=2.5 --seed=7 --out="));
    assert_string_equal(
        json_string_value(json_object_get(
            json_object_get(json_array_get(json_object_get(r, "content"), 1), "resource"), "text")),
        "four");
    json_decref(r);
    const struct {
        const char *arguments, *sentence;
    } wrong[] = {{"{}", "needs \"file\""},
                 {"{\"file\":\"scene.json\",\"clearance\":1}", "must be a text"},
                 {"{\"file\":\"scene.json\",\"all\":\"yes\"}", "must be a boolean"},
                 {"{\"file\":\"scene.json\",\"html\":\"/tmp/x\"}", "no argument \"html\""},
                 {"{\"file\":\"scene.json\",\"baseline\":\"x\"}", "no argument \"baseline\""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r = call(&s, "clashes", wrong[i].arguments);
        assert_true(is_error(r, wrong[i].sentence));
        json_decref(r);
    }
    end(&s);
}

static void only_the_folders_are_read(void **state)
{
    (void)state;
    site s;
    begin(&s);
    char *link = joined(s.inside, "link.stl"), *trick = joined(s.inside, "trick.json");
    assert_int_equal(symlink(s.outside, link), 0);
    write_text(trick, "{\"feeler\": 1, \"name\": \"s\", \"parts\": [{\"name\": \"p\", \"file\": "
                      "\"../secret.stl\"}]}");
    const char *const paths[] = {"../secret.stl", "link.stl", "/etc/passwd", "nowhere.stl",
                                 "../in-other",   "/",        ".."};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "{\"file\":\"%s\"}", paths[i]);
        seen[0] = 0;
        json_t *r = call(&s, "open_assembly", arguments);
        assert_true(is_error(r, "no such file in the folders"));
        assert_string_equal(seen, "");
        json_decref(r);
    }
    json_t *r = call(&s, "clashes", "{\"file\":\"trick.json\"}");
    assert_true(is_error(r, "../secret.stl"));
    json_decref(r);
    /* a name that looks like an option is a file */
    r = call(&s, "clashes", "{\"file\":\"--html=x\"}");
    assert_true(is_error(r, "no such file"));
    json_decref(r);
    free(link);
    free(trick);
    end(&s);
}

static void progress_grows(void **state)
{
    (void)state;
    site s;
    begin(&s);
    const char *with_token =
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"clashes\","
        "\"arguments\":{\"file\":\"scene.json\"},\"_meta\":{\"progressToken\":\"t\"}}}";
    /* steps count anew; the same count twice, and what is no progress, is not told */
    told = "{\"step\":\"reading\",\"done\":0,\"total\":2}\n{\"step\":\"reading\",\"done\":0,"
           "\"total\":2}\n"
           "{\"step\":\"reading\",\"done\":1,\"total\":2}\nfeeler: a note\n{}\n[\n"
           "{\"step\":\"checking\",\"done\":0,\"total\":100}\n{\"step\":\"frames\",\"done\":9}\n";
    json_decref(ask(&s, with_token));
    double last = 0;
    int lines = 0;
    static const char *const steps[] = {"reading", "reading", "checking", "frames"};
    for (const char *line = sent; *line; line += strcspn(line, "\n") + 1, lines++) {
        json_t *note = json_loadb(line, strcspn(line, "\n"), 0, NULL);
        const json_t *params = json_object_get(note, "params");
        assert_string_equal(json_string_value(json_object_get(note, "method")),
                            "notifications/progress");
        assert_null(json_object_get(note, "id"));
        assert_string_equal(json_string_value(json_object_get(params, "progressToken")), "t");
        assert_string_equal(json_string_value(json_object_get(params, "message")), steps[lines]);
        const double progress = json_number_value(json_object_get(params, "progress"));
        const json_t *total = json_object_get(params, "total");
        assert_gt(progress, last);
        if (total) assert_ge(json_number_value(total), progress);
        assert_true(!total == (lines == 3));
        last = progress;
        json_decref(note);
    }
    assert_int_equal(lines, 4);
    /* nobody asked */
    json_decref(call(&s, "clashes", "{\"file\":\"scene.json\"}"));
    assert_string_equal(sent, "");
    end(&s);
}

static void calls_are_cancelled(void **state)
{
    (void)state;
    site s;
    begin(&s);
    const char *const request =
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"clashes\",\"arguments\":{\"file\":\"scene.json\"}}}";
    cancelled = true;
    assert_null(flr_mcp_answer(&s.mcp, request, strlen(request)));
    end(&s);
}

#define CANCEL(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id    \
    "}}\n"
#define LIST(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/list\"}\n"

static void lines_wait_and_are_cancelled(void **state)
{
    (void)state;
    site s;
    begin(&s);
    flr_mcp_inbox inbox = {0};
    json_t *running = json_string("a");
    sent[0] = 0;
    /* in pieces of one byte: lines are put together, a ping is answered at once, and one that waits is cancelled */
    const char text[] =
        LIST("1") LIST("2") "\n{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n" CANCEL("1")
            CANCEL("\"1\"") CANCEL("8") "nonsense\n" LIST("\"a\"");
    for (size_t i = 0; i + 1 < sizeof text; i++)
        assert_false(flr_mcp_inbox_add(&inbox, text + i, 1, running, &s.mcp));
    assert_non_null(strstr(sent, "\"id\":3"));
    /* the one that runs, among others */
    const char more[] = LIST("4") CANCEL("\"a\"") "{\"last\":";
    assert_true(flr_mcp_inbox_add(&inbox, more, sizeof more - 1, running, &s.mcp));
    flr_mcp_inbox_end(&inbox, &s.mcp);
    static const char *const rest[] = {"\"id\":2", "nonsense", "\"id\":\"a\"", "\"id\":4",
                                       "{\"last\":"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        flr_mcp_waiting *line = flr_mcp_inbox_take(&inbox);
        assert_non_null(line);
        assert_non_null(memmem(line->line, line->size, rest[i], strlen(rest[i])));
        free(line);
    }
    assert_null(flr_mcp_inbox_take(&inbox));
    /* no tool runs: a ping waits for its turn */
    const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n";
    flr_mcp_inbox_add(&inbox, ping, sizeof ping - 1, NULL, &s.mcp);
    assert_int_equal(inbox.count, 1);
    /* full by number; nothing that was read is lost */
    for (int i = 0; i < 2 * FLR_MCP_MAX_WAITING; i++)
        flr_mcp_inbox_add(&inbox, ping, sizeof ping - 1, NULL, &s.mcp);
    assert_true(flr_mcp_inbox_is_full(&inbox));
    assert_int_equal(inbox.count, 2 * FLR_MCP_MAX_WAITING + 1);
    flr_mcp_inbox_free(&inbox);
    json_decref(running);
    end(&s);
}

static void robots_become_scenes(void **state)
{
    (void)state;
    site s;
    begin(&s);
    char *robot = joined(s.inside, "arm.urdf");
    write_text(robot, "<robot name=\"arm\"/>");
    json_t *r = call(&s, "clashes", "{\"file\":\"arm.urdf\"}");
    if (flr_mcp_confines()) {
        assert_true(json_is_false(json_object_get(r, "isError")));
        assert_non_null(strstr(seen, "scene --out=/"));
        assert_non_null(strstr(seen, "/arm.json --progress --json -- /"));
        assert_non_null(strstr(seen, "/arm.urdf clash --progress --json -- /"));
    } else {
        assert_true(is_error(r, "landlock"));
    }
    json_decref(r);
    free(robot);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered),
        cmocka_unit_test(schemas_come_from_the_tables),
        cmocka_unit_test(arguments_become_a_command_line),
        cmocka_unit_test(only_the_folders_are_read),
        cmocka_unit_test(progress_grows),
        cmocka_unit_test(calls_are_cancelled),
        cmocka_unit_test(lines_wait_and_are_cancelled),
        cmocka_unit_test(robots_become_scenes),
    };
    return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
