/**
 * Names the server process that gave this answer to `INFO server` and `INFO replication`, and the history of its
 * data: `master_replid` changes where a process takes over the data of another one, which `run_id` survives. Null
 * for a replica, whose data is older than what was written. Empty where the answer names nothing.
 */
export function serverNameIn(info: string): string | null {
  const field = (name: string): string => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? '';
  if (field('role') === 'slave') return null;
  return [field('run_id'), field('master_replid')].filter(Boolean).join(':');
}
