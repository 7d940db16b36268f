#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

// OpenSSL macros as functions, because Swift cannot call macros.

static inline int hearth_ssl_ctx_set_version_range(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) && SSL_CTX_set_max_proto_version(context, highest);
}

static inline void hearth_ssl_ctx_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

static inline void hearth_ssl_ctx_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline void hearth_ssl_ctx_harden(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE
        | SSL_OP_PRIORITIZE_CHACHA);
}

static inline void hearth_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

static inline void hearth_bio_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

static inline int hearth_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

static inline int hearth_err_library(unsigned long code) { return ERR_GET_LIB(code); }
