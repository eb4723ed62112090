-- What the superuser does in a database of the role app, before the migrations of a stack. The server's key file has a
-- key with the name shared.

\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS idgen;

-- For create_once()
GRANT SELECT, INSERT (command_id, command_name, entity_id, entity_number, entity_text, request_hash)
    ON idgen.creation_identifiers TO app;
-- For the trigger that checks keys of the application. With other triggers, the role can determine the time of each
-- such key: grant the right to a role for migrations only, or create the trigger as a superuser.
GRANT EXECUTE ON FUNCTION idgen.check_recent_hmac_id() TO app;
