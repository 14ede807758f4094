extern const unsigned char kugel__font[];
extern const unsigned long kugel__font_bytes;
