/* PDF files (version 1.4): objects one after another, then a table of where each begins */
#include "picture/pdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"

/* objects with fixed numbers: the catalogue, the list of pages, two fonts */
enum { CATALOGUE = 1, PAGES, REGULAR, BOLD, FIRST_FREE };

typedef struct pdf_page {
    unsigned number, content; /* objects */
    unsigned *pictures;       /* [picture_count]: objects, named /P0 … */
    size_t picture_count;
} pdf_page;

struct flr_pdf {
    FILE *out;
    char *bytes;
    size_t size;
    FILE *content; /* of the page that is being written; NULL: none */
    char *content_bytes;
    size_t content_size;
    uint64_t *places; /* [objects]: of each object; 0: not written yet */
    unsigned objects;
    pdf_page *pages;
    size_t page_count;
    bool failed;
};

/* widths of Helvetica's characters from the space on, in thousandths of its size */
static const uint16_t widths[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
static const double other_width = 0.556, bolder = 1.06;

/* ---- objects ---- */

static unsigned reserve(flr_pdf *pdf)
{
    if (!flr_array_resize(&pdf->places, pdf->objects + 1u, sizeof *pdf->places)) {
        pdf->failed = true;
        return 0;
    }
    pdf->places[pdf->objects] = 0;
    return pdf->objects++;
}

static void begin_object(flr_pdf *pdf, unsigned number)
{
    if (pdf->failed) return;
    pdf->places[number] = (uint64_t)ftell(pdf->out);
    fprintf(pdf->out, "%u 0 obj\n", number);
}

flr_pdf *flr_pdf_begin(void)
{
    flr_pdf *pdf = calloc(1, sizeof *pdf);
    if (!pdf) return NULL;
    pdf->out = open_memstream(&pdf->bytes, &pdf->size);
    pdf->failed = !pdf->out;
    while (!pdf->failed && pdf->objects < FIRST_FREE) reserve(pdf); /* 0 is never an object */
    /* a comment of bytes above 127 tells programs that the file is not text */
    if (!pdf->failed) fputs("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", pdf->out);
    return pdf;
}

static void end_page(flr_pdf *pdf)
{
    if (!pdf->content) return;
    if (ferror(pdf->content)) pdf->failed = true;
    if (fclose(pdf->content) != 0) pdf->failed = true;
    pdf->content = NULL;
    if (!pdf->failed) {
        const pdf_page *page = &pdf->pages[pdf->page_count - 1];
        begin_object(pdf, page->content);
        fprintf(pdf->out, "<< /Length %zu >>\nstream\n", pdf->content_size);
        fwrite(pdf->content_bytes, 1, pdf->content_size, pdf->out);
        fputs("\nendstream\nendobj\n", pdf->out);
    }
    free(pdf->content_bytes);
    pdf->content_bytes = NULL;
}

void flr_pdf_page(flr_pdf *pdf)
{
    if (!pdf) return;
    end_page(pdf);
    if (pdf->failed) return;
    if (!flr_array_resize(&pdf->pages, pdf->page_count + 1, sizeof *pdf->pages)) {
        pdf->failed = true;
        return;
    }
    pdf_page *page = &pdf->pages[pdf->page_count++];
    *page = (pdf_page){.number = reserve(pdf)};
    page->content = reserve(pdf);
    pdf->content = open_memstream(&pdf->content_bytes, &pdf->content_size);
    pdf->failed = pdf->failed || !pdf->content;
}

/* ---- what is on a page ---- */

static void put_colour(FILE *out, uint32_t colour, const char *how)
{
    fprintf(out, "%.3f %.3f %.3f %s\n", (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
            (colour & 255) / 255.0, how);
}

/* the next character of UTF-8 as Latin-1; what it cannot hold is '?' */
static unsigned char next_latin(const char **text, const char *end)
{
    const unsigned char *c = (const unsigned char *)*text;
    const size_t left = (size_t)(end - *text);
    size_t size = c[0] < 0x80 ? 1 : c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (size > left) size = left;
    *text += size;
    if (size == 1) return c[0] >= ' ' && c[0] < 127 ? c[0] : '?';
    if (size == 2 && ((c[0] == 0xc2 && c[1] >= 0xa0) || c[0] == 0xc3))
        return (unsigned char)((c[0] - 0xc2) * 64 + c[1]);
    return '?';
}

double flr_pdf_text_width(const char *text, size_t length, double size, bool bold)
{
    double sum = 0;
    for (const char *end = text + length; text < end;) {
        const unsigned char c = next_latin(&text, end);
        sum += c < 127 ? 1e-3 * widths[c - ' '] : other_width;
    }
    return sum * size * (bold ? bolder : 1);
}

static void put_text(flr_pdf *pdf, double x, double y, double size, bool bold, uint32_t colour,
                     const char *text, size_t length)
{
    if (!pdf || pdf->failed || !pdf->content) return;
    put_colour(pdf->content, colour, "rg");
    fprintf(pdf->content, "BT /%s %.2f Tf %.2f %.2f Td (", bold ? "FB" : "FR", size, x, y);
    for (const char *end = text + length; text < end;) {
        const unsigned char c = next_latin(&text, end);
        if (c == '(' || c == ')' || c == '\\') fputc('\\', pdf->content);
        fputc(c, pdf->content);
    }
    fputs(") Tj ET\n", pdf->content);
}

void flr_pdf_text(flr_pdf *pdf, double x, double y, double size, bool bold, uint32_t colour,
                  const char *text)
{
    put_text(pdf, x, y, size, bold, colour, text, strlen(text));
}

double flr_pdf_paragraph(flr_pdf *pdf, double x, double y, double width, double size, bool bold,
                         uint32_t colour, const char *text)
{
    while (*text) {
        /* as many words as fit, one at least */
        size_t fits = 0;
        for (size_t end = 0; text[end];) {
            end += strspn(text + end, " ");
            end += strcspn(text + end, " ");
            if (fits && flr_pdf_text_width(text, end, size, bold) > width) break;
            fits = end;
        }
        put_text(pdf, x, y, size, bold, colour, text, fits);
        y -= 1.35 * size;
        text += fits + strspn(text + fits, " ");
    }
    return y;
}

void flr_pdf_line(flr_pdf *pdf, const double (*points)[2], size_t count, double thick,
                  uint32_t colour)
{
    if (!pdf || pdf->failed || !pdf->content || count < 2) return;
    put_colour(pdf->content, colour, "RG");
    fprintf(pdf->content, "%.2f w 1 j 1 J\n", thick);
    for (size_t i = 0; i < count; i++)
        fprintf(pdf->content, "%.2f %.2f %c\n", points[i][0], points[i][1], i ? 'l' : 'm');
    fputs("S\n", pdf->content);
}

void flr_pdf_picture(flr_pdf *pdf, double x, double y, double width, double height,
                     const flr_picture *picture)
{
    if (!pdf || pdf->failed || !pdf->content) return;
    pdf_page *page = &pdf->pages[pdf->page_count - 1];
    const uLong raw = (uLong)picture->width * picture->height * 3;
    uLongf size = compressBound(raw);
    uint8_t *packed = malloc(size);
    const unsigned number = reserve(pdf);
    if (!packed || compress2(packed, &size, picture->rgb, raw, 9) != Z_OK ||
        !flr_array_resize(&page->pictures, page->picture_count + 1, sizeof *page->pictures))
        pdf->failed = true;
    if (!pdf->failed) {
        begin_object(pdf, number);
        fprintf(pdf->out,
                "<< /Type /XObject /Subtype /Image /Width %u /Height %u /ColorSpace /DeviceRGB "
                "/BitsPerComponent 8 /Filter /FlateDecode /Length %lu >>\nstream\n",
                picture->width, picture->height, (unsigned long)size);
        fwrite(packed, 1, size, pdf->out);
        fputs("\nendstream\nendobj\n", pdf->out);
        fprintf(pdf->content, "q %.2f 0 0 %.2f %.2f %.2f cm /P%zu Do Q\n", width, height, x, y,
                page->picture_count);
        page->pictures[page->picture_count++] = number;
    }
    free(packed);
}

/* ---- the whole ---- */

static void put_page(flr_pdf *pdf, const pdf_page *page)
{
    begin_object(pdf, page->number);
    fprintf(pdf->out,
            "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %d %d] /Contents %u 0 R /Resources << "
            "/Font << /FR %d 0 R /FB %d 0 R >> /XObject <<",
            PAGES, FLR_PDF_WIDTH, FLR_PDF_HEIGHT, page->content, REGULAR, BOLD);
    for (size_t i = 0; i < page->picture_count; i++)
        fprintf(pdf->out, " /P%zu %u 0 R", i, page->pictures[i]);
    fputs(" >> >> >>\nendobj\n", pdf->out);
}

static void put_fonts(flr_pdf *pdf)
{
    static const char *const names[] = {"Helvetica", "Helvetica-Bold"};
    for (unsigned i = 0; i < 2; i++) {
        begin_object(pdf, REGULAR + i);
        fprintf(pdf->out,
                "<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding "
                ">>\nendobj\n",
                names[i]);
    }
}

static void finish(flr_pdf *pdf)
{
    begin_object(pdf, CATALOGUE);
    fprintf(pdf->out, "<< /Type /Catalog /Pages %d 0 R >>\nendobj\n", PAGES);
    begin_object(pdf, PAGES);
    fprintf(pdf->out, "<< /Type /Pages /Count %zu /Kids [", pdf->page_count);
    for (size_t i = 0; i < pdf->page_count; i++) fprintf(pdf->out, " %u 0 R", pdf->pages[i].number);
    fputs(" ] >>\nendobj\n", pdf->out);
    put_fonts(pdf);
    for (size_t i = 0; i < pdf->page_count; i++) put_page(pdf, &pdf->pages[i]);
    const long table = ftell(pdf->out);
    fprintf(pdf->out, "xref\n0 %u\n0000000000 65535 f \n", pdf->objects);
    for (unsigned i = 1; i < pdf->objects; i++)
        fprintf(pdf->out, "%010llu 00000 n \n", (unsigned long long)pdf->places[i]);
    fprintf(pdf->out, "trailer\n<< /Size %u /Root %d 0 R >>\nstartxref\n%ld\n%%%%EOF\n",
            pdf->objects, CATALOGUE, table);
}

flr_result flr_pdf_end(flr_pdf *pdf, flr_blob *file, flr_error *error)
{
    if (!pdf) return flr_fail_memory(error);
    end_page(pdf);
    if (!pdf->failed) finish(pdf);
    if (pdf->out && ferror(pdf->out)) pdf->failed = true;
    if (pdf->out && fclose(pdf->out) != 0) pdf->failed = true;
    for (size_t i = 0; i < pdf->page_count; i++) free(pdf->pages[i].pictures);
    const bool failed = pdf->failed;
    flr_blob made = {(uint8_t *)pdf->bytes, pdf->size};
    free(pdf->pages);
    free(pdf->places);
    free(pdf);
    if (!failed) {
        *file = made;
        return FLR_OK;
    }
    free(made.bytes);
    return flr_fail_memory(error);
}
