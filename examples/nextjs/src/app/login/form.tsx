'use client';

import { type FormEvent, useEffect, useState } from 'react';
import { auth } from '../../auth-client';

export function LoginForm({ next, hasEnded }: { next: string; hasEnded: boolean }) {
  const [message, setMessage] = useState('');
  // After a link on another site the browser sends no cookie (SameSite=Strict), so the server saw no session.
  useEffect(() => {
    const find = async () => {
      if (!hasEnded && (await auth.restore())) location.replace(next);
    };
    find().catch(console.error);
  }, [next, hasEnded]);
  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      const fields = { email: String(form.get('email')), password: String(form.get('password')) };
      // With a second factor there is a challenge: call `auth.answerChallenge`.
      if (await auth.login(fields)) setMessage('This account needs a second factor.');
      else location.replace(next);
    } catch (error) {
      setMessage((error as Error).message);
    }
  };
  return (
    <form method="post" onSubmit={signIn}>
      <label>
        Email <input name="email" type="email" autoComplete="username" />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" />
      </label>
      <button>Sign in</button>
      <p role="alert">{message}</p>
    </form>
  );
}
