/**
 * Copies the environment variables of this process.
 *
 * @returns a function that sets all variables to the copy. It never replaces the object `process.env`: Node's own functions
 * write to that one.
 */
export function savedVariables(): () => void {
  const saved = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
    Object.assign(process.env, saved);
  };
}
