/* meshes that a client uploads, piece by piece */
#include "server/client_session.h"

static flr_upload **find_upload(flr_client_session *session, uint32_t number, flr_error *error)
{
    for (int i = 0; i < FLR_CLIENT_SESSION_UPLOADS; i++) {
        flr_upload **at = &session->uploads[i];
        if (*at && flr_upload_number(*at) == number) return at;
    }
    flr_fail(error, FLR_NOT_FOUND, "there is no upload %u", number);
    return NULL;
}

static flr_result begin_upload(flr_client_session *session, const flr_msg_upload *def,
                               flr_error *error)
{
    flr_hub *hub = session->hub;
    flr_upload **at = NULL, *upload = NULL;
    for (int i = 0; i < FLR_CLIENT_SESSION_UPLOADS && !at; i++)
        if (!session->uploads[i]) at = &session->uploads[i];
    if (!at)
        return flr_fail(error, FLR_AGAIN, "%d uploads are under way; end one of them first",
                        FLR_CLIENT_SESSION_UPLOADS);
    flr_result result = flr_upload_begin(hub->def.env, hub->def.uploads, hub->def.limits.upload,
                                         ++hub->next_upload, def, &upload, error);
    if (result != FLR_OK) return result;
    if (hub->upload_bytes + flr_upload_size(upload) > hub->def.limits.uploads) {
        flr_upload_abandon(upload);
        return flr_fail(error, FLR_AGAIN, "too much is being uploaded at present; try again later");
    }
    *at = upload;
    hub->upload_bytes += flr_upload_size(upload);
    return FLR_OK;
}

static flr_upload *forget_upload(flr_client_session *session, flr_upload **at)
{
    flr_upload *upload = *at;
    session->hub->upload_bytes -= flr_upload_size(upload);
    *at = NULL;
    return upload;
}

/* A piece that does not fit ends the upload: what would follow does not fit either. */
static flr_result take_piece(flr_client_session *session, const flr_message *m, flr_error *error)
{
    const bool bytes = m->id == FLR_MSG_UPLOAD_BYTES;
    flr_upload **at = find_upload(
        session, bytes ? m->as.upload_bytes.upload : m->as.upload_triangles.upload, error);
    if (!at) return FLR_NOT_FOUND;
    flr_result result = bytes ? flr_upload_bytes(*at, &m->as.upload_bytes, error)
                              : flr_upload_triangles(*at, &m->as.upload_triangles, error);
    if (result != FLR_OK) flr_upload_abandon(forget_upload(session, at));
    return result;
}

static flr_result end_upload(flr_client_session *session, const flr_msg_upload_end *end,
                             uint32_t *job, flr_error *error)
{
    flr_upload **at = find_upload(session, end->upload, error);
    if (!at) return FLR_NOT_FOUND;
    const uint64_t bytes = flr_upload_size(*at);
    flr_upload *upload = forget_upload(session, at);
    flr_result result = flr_upload_end(upload, session->hub->def.engine, end, job, error);
    if (result == FLR_OK) flr_hub_count_upload(session->hub, *job, bytes);
    return result;
}

void flr_client_session_upload(flr_client_session *session, const flr_message *message)
{
    flr_error error;
    flr_result result;
    uint32_t value = 0;
    if (message->id == FLR_MSG_UPLOAD) {
        result = begin_upload(session, &message->as.upload, &error);
        value = session->hub->next_upload;
    } else if (message->id == FLR_MSG_UPLOAD_END) {
        result = end_upload(session, &message->as.upload_end, &value, &error);
    } else {
        result = take_piece(session, message, &error);
    }
    flr_client_session_answer(session, message, result, value, &error);
}
