import type { AuthModuleOptions } from '@svc/auth';
import type { Response } from 'supertest';
import type { TestApp } from '../hosts/app';
import { ADA, PASSWORD } from '../hosts/user-entities';

export const DEVICE_HEADER = 'X-Svc-Device';
export const REPORT_URL = 'https://app.example.test/unknown-sign-in';

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0';

/** For `membersForFile`: the mails need a page and the reset of passwords. */
export const knownDeviceOptions = (options: Partial<AuthModuleOptions> = {}): Partial<AuthModuleOptions> => ({
  // So that no concurrent request is answered 503 on a busy machine.
  storeTimeoutMs: 20_000,
  ...options,
  knownDevices: { frontendUrl: REPORT_URL, ...options.knownDevices },
  features: { knownDevices: true, ...options.features },
});

export interface DeviceRow {
  id: string;
  guard: string;
  user_id: string;
  device_hash: string | null;
  session_id: string;
  user_agent: string | null;
  first_seen_at: Date;
  last_seen_at: Date;
  link_hash: string | null;
  reported_at: Date | null;
}

export const deviceRows = (t: TestApp): Promise<DeviceRow[]> =>
  t.database.query('SELECT * FROM svc_known_devices ORDER BY first_seen_at, id');

/** Signs in on a device in body mode: without a token on a new one. */
export async function signInOn(t: TestApp, device?: string, email = ADA, guard = 'api'): Promise<Response> {
  const login = t.login(email, PASSWORD, guard).set('User-Agent', FIREFOX);
  return device === undefined ? login.expect(200) : login.set(DEVICE_HEADER, device).expect(200);
}

/** The token of a new device on which the user has signed in. */
export const newDevice = async (t: TestApp, email = ADA): Promise<string> =>
  (await signInOn(t, undefined, email)).body.device_token;

export const report = (t: TestApp, token: unknown, guard = 'api') =>
  t.http.post(`${t.paths[guard]}/sessions/report`).send({ token });
