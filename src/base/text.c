/* text that came from outside, made fit to be shown */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum {
    WHOLE_SIZE = 12288, /* of a text before it is shortened: a few paths */
    LONG_WORD = 80      /* shorter words are not worth shortening */
};

/* ---- characters ---- */

size_t flr_utf8_size(const char *text, size_t left, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (!left) return 0;
    const unsigned char *s = (const unsigned char *)text;
    uint32_t value = s[0];
    size_t size = 1;
    if (s[0] >= 0x80) {
        size = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
        if (s[0] < 0xC2 || s[0] > 0xF4 || size > left) return 0;
        value = s[0] & (0x7Fu >> size);
        for (size_t i = 1; i < size; i++) {
            if ((s[i] & 0xC0) != 0x80) return 0;
            value = value << 6 | (s[i] & 0x3F);
        }
        if (value < least[size] || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF)
            return 0;
    }
    if (code) *code = value;
    return size;
}

bool flr_utf8_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

void flr_text_clean(char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t code = 0;
        size_t step = flr_utf8_size(text + i, size - i, &code);
        if (step && !flr_utf8_is_control(code)) {
            i += step;
            continue;
        }
        if (!step) step = 1;
        memset(text + i, '?', step);
        i += step;
    }
}

/* ---- length ---- */

/* does a character of clean text begin here, or the text end? */
static bool is_boundary(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

/* the longest run without blanks; its length goes to `*size` */
static char *longest_word(char *text, size_t *size)
{
    char *longest = text;
    *size = 0;
    for (char *word = text; *word;) {
        size_t length = strcspn(word, " ");
        if (length > *size) *size = length, longest = word;
        word += length;
        word += strspn(word, " ");
    }
    return longest;
}

/* until the text has at most `room` bytes, or has no long words any more */
static void shorten_words(char *text, size_t room)
{
    for (size_t length; (length = strlen(text)) > room;) {
        size_t size;
        char *word = longest_word(text, &size);
        if (size < LONG_WORD) return;
        // more of the end than of the beginning: there stands the name of a file
        size_t over = length - room + 3, keep = size > over + 60 ? size - over : 60;
        size_t head = keep / 3;
        while (!is_boundary(word[head])) head--;
        size_t tail = keep - head;
        while (!is_boundary(word[size - tail])) tail--;
        memcpy(word + head, "...", 3);
        memmove(word + head + 3, word + size - tail, strlen(word + size - tail) + 1);
    }
}

void flr_text_print(char *text, size_t size, const char *format, va_list arguments)
{
    char whole[WHOLE_SIZE];
    if (vsnprintf(whole, sizeof whole, format, arguments) < 0) whole[0] = 0;
    flr_text_clean(whole, strlen(whole));
    shorten_words(whole, size - 1);
    size_t length = strlen(whole);
    if (length > size - 1) {
        length = size - 1;
        while (!is_boundary(whole[length])) length--;
    }
    memcpy(text, whole, length);
    text[length] = 0;
}

void flr_text_copy(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length < size) {
        memcpy(to, text, length + 1);
        return;
    }
    // back to a blank, unless the last word is most of it
    length = size - 4;
    while (!is_boundary(text[length])) length--;
    size_t word = length;
    while (word > size / 2 && text[word] != ' ') word--;
    if (text[word] == ' ') length = word;
    memcpy(to, text, length);
    memcpy(to + length, "...", 4);
}
