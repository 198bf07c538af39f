/* pdf.h: text, lines and pictures as a PDF file in memory
 *
 *     flr_pdf *pdf = flr_pdf_begin();
 *     flr_pdf_page(pdf);
 *     flr_pdf_text(pdf, 56, 780, 11, true, 0x1d2733, "Clearance");
 *     flr_pdf_end(pdf, &file, &error);
 *
 * A4 pages, 595 × 842 points, the origin at the lower left. The fonts are those that every reader has (Helvetica), so characters
 * beyond Latin-1 become question marks. The first failure sticks and is returned at the end. The same input gives the same bytes.
 *
 * Thread: any; not RT safe.
 */
#ifndef FLR_PICTURE_PDF_H
#define FLR_PICTURE_PDF_H

#include "picture/picture.h"

enum { FLR_PDF_WIDTH = 595, FLR_PDF_HEIGHT = 842 };

typedef struct flr_pdf flr_pdf;

/* NULL: out of memory. */
flr_pdf *flr_pdf_begin(void);
/* A new page; what follows goes there. The first one has to be begun, too. */
void flr_pdf_page(flr_pdf *pdf);
/* One line of UTF-8 text that begins at x, its base line at y; `size` points, colour 0xrrggbb. */
void flr_pdf_text(flr_pdf *pdf, double x, double y, double size, bool bold, uint32_t colour,
                  const char *text);
/* How wide that is, in points; of the first `length` bytes. */
double flr_pdf_text_width(const char *text, size_t length, double size, bool bold);
/* The same text in lines of at most `width` points, broken at spaces; returns the y of the line that would follow. */
double flr_pdf_paragraph(flr_pdf *pdf, double x, double y, double width, double size, bool bold,
                         uint32_t colour, const char *text);
/* A line through points [count], each x and y. */
void flr_pdf_line(flr_pdf *pdf, const double (*points)[2], size_t count, double thick,
                  uint32_t colour);
/* A picture, its lower left corner at x, y. */
void flr_pdf_picture(flr_pdf *pdf, double x, double y, double width, double height,
                     const flr_picture *picture);
/* The file; free with flr_blob_free(). Frees `pdf` in any case, which may be NULL (out of memory). */
flr_result flr_pdf_end(flr_pdf *pdf, flr_blob *file, flr_error *error);

#endif
