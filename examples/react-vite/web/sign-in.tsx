import type { AuthError } from '@svc/auth-client';
import { useAuth } from '@svc/auth-client/react';
import { type SubmitEvent, useState } from 'react';

export function SignIn({ reason = '' }) {
  const auth = useAuth();
  const [message, setMessage] = useState(reason);

  async function send(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const isNew = event.nativeEvent.submitter?.getAttribute('value') === 'register';
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as { email: string; password: string };
    try {
      // A second click while the request runs sends no second one. After the sign-in, `useSession` shows the account.
      if (isNew) await auth.register({ name: fields.email.split('@')[0], ...fields });
      else await auth.login(fields);
    } catch (error) {
      setMessage((error as AuthError).message);
    }
  }

  return (
    <form onSubmit={send}>
      <label>
        Email <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button value="login">Sign in</button>
      <button value="register">Create an account</button>
      <p role="alert">{message}</p>
    </form>
  );
}
