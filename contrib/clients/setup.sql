-- A superuser runs this script in a database of the role "app" before the migrations of a stack. The server's key file
-- must contain a key named "shared".

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;

-- create_once() requires these privileges.
GRANT SELECT, INSERT (command_id, command_name, entity_id, entity_number, entity_text, request_hash)
    ON idgen.creation_identifiers TO app;
-- The trigger that checks the application's keys requires this privilege. With triggers of its own, the role can then
-- determine the time of each such key. To prevent this, grant the privilege only to a role for migrations, or create
-- the trigger as a superuser.
GRANT EXECUTE ON FUNCTION idgen.check_recent_hmac_id() TO app;

-- If a client disappears, its session can stay in a transaction that has recorded a command. A retry of this command
-- must not wait until TCP detects this, which takes hours by default. The settings also apply to migrations of the
-- role.
ALTER ROLE app SET lock_timeout = '2s';
ALTER ROLE app SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE app SET tcp_keepalives_idle = 10;
ALTER ROLE app SET tcp_keepalives_interval = 10;
ALTER ROLE app SET tcp_user_timeout = '30s';
