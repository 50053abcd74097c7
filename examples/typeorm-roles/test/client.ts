/** The suite talks only HTTP: to the application at APP_URL and to the mailbox at MAIL_URL. */
const APP_URL = process.env.APP_URL ?? 'http://localhost:3000';
const MAIL_URL = process.env.MAIL_URL ?? 'http://localhost:1080';

export const ADMIN_EMAIL = 'admin@example.com';
export const ADMIN_PASSWORD = 'secret';
export const TESTER_EMAIL = 'john.doe@example.com';
export const TESTER_PASSWORD = 'secret';

export interface Answer {
  status: number;
  body: ReturnType<typeof JSON.parse>;
}

export async function call(method: string, path: string, body?: object, token?: string): Promise<Answer> {
  const response = await fetch(`${APP_URL}/api/v1${path}`, {
    method,
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

export const login = (email: string, password: string) => call('POST', '/auth/email/login', { email, password });

export interface Person {
  email: string;
  password: string;
}

let people = 0;

/** Registers a new account. */
export async function register(): Promise<Person> {
  const person = { email: `user.${process.pid}.${Date.now()}.${++people}@example.com`, password: 'a horse with wings' };
  const { status } = await call('POST', '/auth/email/register', { ...person, firstName: 'First', lastName: 'E2E' });
  if (status !== 204) throw new Error(`register: ${status}`);
  return person;
}

interface Letter {
  to: { address: string }[];
  text: string;
}

/** The parameters of the link in the latest letter to an address whose link has this path. */
export async function linkTo(address: string, path: string): Promise<URLSearchParams> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const letters = (await (await fetch(`${MAIL_URL}/email`)).json()) as Letter[];
    const links = letters
      .filter(({ to }) => to[0]?.address === address)
      .flatMap(({ text }) => text.match(/https?:\/\/\S+/g) ?? [])
      .map((link) => new URL(link))
      .filter(({ pathname }) => pathname === path);
    if (links.length > 0) return links.at(-1)!.searchParams;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no letter to ${address} with a link to ${path}`);
}
