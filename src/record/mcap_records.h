/* mcap_records.h: the kinds of records in an MCAP file. */
#ifndef FLR_RECORD_MCAP_RECORDS_H
#define FLR_RECORD_MCAP_RECORDS_H

enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_STATISTICS = 0x0B,
    MCAP_METADATA = 0x0C,
    MCAP_METADATA_INDEX = 0x0D,
    MCAP_DATA_END = 0x0F
};

#endif
