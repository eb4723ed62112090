-- Run this script as a superuser in a database that the role app owns, before the migrations of a stack. The server's
-- key file must contain a key with the name shared.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;

-- For create_once()
GRANT SELECT, INSERT (command_id, command_name, entity_id, entity_number, entity_text, request_hash)
    ON idgen.creation_identifiers TO app;
-- For the trigger that checks the application's keys. A role with this privilege can determine the time of each such
-- key by means of other triggers. To prevent this, grant the privilege to a role that only runs migrations, or create
-- the trigger as a superuser.
GRANT EXECUTE ON FUNCTION idgen.check_recent_hmac_id() TO app;

-- A session whose client is lost can stay in a transaction that has recorded a command. A retry of this command must
-- not wait until TCP detects the loss, which takes hours by default. The settings also apply to migrations of the role.
ALTER ROLE app SET lock_timeout = '2s';
ALTER ROLE app SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE app SET tcp_keepalives_idle = 10;
ALTER ROLE app SET tcp_keepalives_interval = 10;
ALTER ROLE app SET tcp_user_timeout = '30s';
