#include "support/messages.h"

#include <math.h>

static double any_double(flr_test_random *random)
{
    // halves, so that sums and squares are exact, and something odd now and then
    if (flr_test_random_below(random, 4) == 0) return flr_test_random_range(random, -10, 10);
    return ((double)flr_test_random_below(random, 4000) - 2000) / 2;
}

/* a unit quaternion whose length does not depend on how a machine rounds */
static flr_quat any_turn(flr_test_random *random)
{
    static const double legs[4][4] = {
        {1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.5}, {0.6, 0, 0.8, 0}, {0, 0.28, 0, 0.96}};
    const double *leg = legs[flr_test_random_below(random, 4)];
    flr_quat turn = {leg[0], leg[1], leg[2], -leg[3]};
    return turn;
}

static void put_reals(uint8_t *to, flr_test_random *random, unsigned lanes)
{
    for (unsigned i = 0; i < lanes; i++) {
        double value = any_double(random);
        memcpy(to + sizeof value * i, &value, sizeof value);
    }
}

static void put_floats(uint8_t *to, flr_test_random *random, unsigned lanes)
{
    for (unsigned i = 0; i < lanes; i++) {
        float value = (float)any_double(random);
        memcpy(to + sizeof value * i, &value, sizeof value);
    }
}

static void put_value(const flr_wire_field *field, uint8_t *to, flr_test_random *random)
{
    const flr_wire_kind_info *kind = flr_wire_kind_of(field->kind);
    uint64_t whole = flr_test_random_u64(random);
    double distance = fabs(any_double(random));
    uint32_t values = 0;
    switch (field->kind) {
    case FLR_KIND_u8:
        *to = (uint8_t)whole;
        break;
    case FLR_KIND_u16:
        memcpy(to, &(uint16_t){(uint16_t)whole}, 2);
        break;
    case FLR_KIND_u32:
        memcpy(to, &(uint32_t){(uint32_t)whole}, 4);
        break;
    case FLR_KIND_u64:
        memcpy(to, &(uint64_t){whole >> 11}, 8);
        break;
    case FLR_KIND_flag:
        *to = whole & 1;
        break;
    case FLR_KIND_choice:
        while (field->choice->values[values].name) values++;
        *to = (uint8_t)field->choice->values[whole % values].number;
        break;
    case FLR_KIND_distance:
        if (whole % 4 == 0) distance = INFINITY;
        memcpy(to, &distance, sizeof distance);
        break;
    case FLR_KIND_f32:
    case FLR_KIND_vec3f:
        put_floats(to, random, kind->lanes);
        break;
    case FLR_KIND_f64:
    case FLR_KIND_vec3:
    case FLR_KIND_wrench:
        put_reals(to, random, kind->lanes);
        break;
    case FLR_KIND_pose:
        put_reals(to, random, 3);
        flr_quat turn = any_turn(random);
        memcpy(to + offsetof(flr_pose, q), &turn, sizeof turn);
        break;
    case FLR_KIND_struct:
        for (const flr_wire_field *part = field->structure->fields(); part->shape != FLR_SHAPE_END;
             part++)
            put_value(part, to + part->offset, random);
        break;
    case FLR_KIND_COUNT:
        break;
    }
}

static void put_text(const flr_wire_field *field, uint8_t *to, flr_test_random *random,
                     uint32_t items)
{
    static const char *const letters[] = {"a",  "Z", " ", "0",  "\n", "\"",
                                          "\\", "µ", "€", "部", "𝄞"};
    uint32_t most = items < field->max ? items : field->max;
    uint32_t wanted = flr_test_random_below(random, most + 1);
    char *text = malloc(wanted + 1);
    assert_non_null(text);
    uint32_t size = 0;
    for (;;) {
        const char *letter =
            letters[flr_test_random_below(random, sizeof letters / sizeof letters[0])];
        if (size + strlen(letter) > wanted) break;
        memcpy(text + size, letter, strlen(letter));
        size += (uint32_t)strlen(letter);
    }
    flr_wire_text value = {text, size};
    memcpy(to, &value, sizeof value);
}

static void put_list(const flr_wire_field *field, uint8_t *body, flr_test_random *random,
                     uint32_t items)
{
    uint32_t most = field->max / field->group;
    uint32_t count =
        flr_test_random_below(random, (items < most ? items : most) + 1) * field->group;
    size_t size = flr_wire_item_size(field);
    uint8_t *list = calloc(count + 1, size);
    assert_non_null(list);
    for (uint32_t i = 0; i < count; i++) put_value(field, list + size * i, random);
    memcpy(body + field->offset, &list, sizeof list);
    memcpy(body + field->count_offset, &count, sizeof count);
}

flr_message flr_test_message(const flr_wire_message *type, flr_test_random *random, uint32_t items)
{
    flr_message message;
    memset(&message, 0, sizeof message);
    message.id = type->id;
    message.request = (uint32_t)flr_test_random_u64(random);
    uint8_t *body = (uint8_t *)&message.as;
    for (const flr_wire_field *field = type->fields(); field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_ONE) put_value(field, body + field->offset, random);
        if (field->shape == FLR_SHAPE_TEXT) put_text(field, body + field->offset, random, items);
        if (field->shape == FLR_SHAPE_LIST) put_list(field, body, random, items);
    }
    return message;
}

void flr_test_message_free(flr_message *message)
{
    const flr_wire_message *type = flr_wire_message_find(message->id);
    uint8_t *body = (uint8_t *)&message->as;
    for (const flr_wire_field *field = type->fields(); field->shape != FLR_SHAPE_END; field++) {
        if (field->shape != FLR_SHAPE_TEXT && field->shape != FLR_SHAPE_LIST) continue;
        void
            *owned; // a text's bytes are its first member, a list's items a pointer: the same place
        memcpy(&owned, body + field->offset, sizeof owned);
        free(owned);
    }
    memset(message, 0, sizeof *message);
}

/* ---- for other languages ---- */

static void print_text(flr_wire_text text, FILE *out)
{
    fputc('"', out);
    for (uint32_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c < 0x20 || c == '"' || c == '\\')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* all lanes as one list, also of a value that has one */
static void print_value(const flr_wire_field *field, const uint8_t *from, FILE *out)
{
    const flr_wire_kind_info *kind = flr_wire_kind_of(field->kind);
    if (field->structure) {
        const char *between = "{";
        for (const flr_wire_field *part = field->structure->fields(); part->shape != FLR_SHAPE_END;
             part++) {
            fprintf(out, "%s\"%s\":", between, part->name);
            print_value(part, from + part->offset, out);
            between = ",";
        }
        fputc('}', out);
        return;
    }
    bool real = field->kind >= FLR_KIND_f32 && field->kind <= FLR_KIND_wrench;
    for (unsigned i = 0; i < kind->lanes; i++) {
        const uint8_t *lane = from + (size_t)i * kind->width;
        double value = 0;
        float single = 0;
        uint64_t whole = 0; // this machine is little endian, or the lane is wide
        if (real && kind->width == 8) memcpy(&value, lane, 8);
        if (real && kind->width == 4) memcpy(&single, lane, 4), value = (double)single;
        for (unsigned b = 0; !real && b < kind->width; b++) whole |= (uint64_t)lane[b] << 8 * b;
        fputc(i ? ',' : '[', out);
        if (real && isinf(value))
            fprintf(out, "null");
        else if (real)
            fprintf(out, "%.17g", value);
        else
            fprintf(out, "%llu", (unsigned long long)whole);
    }
    fputc(']', out);
}

void flr_test_message_print(const flr_message *message, FILE *out)
{
    const flr_wire_message *type = flr_wire_message_find(message->id);
    const uint8_t *body = (const uint8_t *)&message->as;
    const char *between = "{";
    fprintf(out, "{\"message\":\"%s\",\"request\":%u,\"body\":", type->name, message->request);
    for (const flr_wire_field *field = type->fields(); field->shape != FLR_SHAPE_END; field++) {
        if (field->shape == FLR_SHAPE_SINCE) continue;
        fprintf(out, "%s\"%s\":", between, field->name);
        between = ",";
        if (field->shape == FLR_SHAPE_TEXT) {
            flr_wire_text text;
            memcpy(&text, body + field->offset, sizeof text);
            print_text(text, out);
        } else if (field->shape == FLR_SHAPE_LIST) {
            const uint8_t *items;
            uint32_t count;
            memcpy(&items, body + field->offset, sizeof items);
            memcpy(&count, body + field->count_offset, sizeof count);
            fputc('[', out);
            for (uint32_t i = 0; i < count; i++) {
                if (i) fputc(',', out);
                print_value(field, items + (size_t)flr_wire_item_size(field) * i, out);
            }
            fputc(']', out);
        } else {
            print_value(field, body + field->offset, out);
        }
    }
    fprintf(out, "%s}}\n", *between == '{' ? "{" : "");
}

size_t flr_test_unhex(const char *text, uint8_t *bytes, size_t capacity)
{
    size_t size = 0;
    unsigned byte;
    while (size < capacity && sscanf(text + 2 * size, "%2x", &byte) == 1)
        bytes[size++] = (uint8_t)byte;
    return size;
}
