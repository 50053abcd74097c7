import type { AuthError } from '@svc/auth-client';
import { useAuth } from '@svc/auth-client/react';
import { useEffect, useState } from 'react';

export function Account() {
  const auth = useAuth();
  const [text, setText] = useState('');
  const show = ({ message }: AuthError) => setText(message);

  useEffect(() => {
    const left = new AbortController();
    auth.request<{ greeting: string }>('GET', '/hello', null, { signal: left.signal }).then(
      ({ greeting }) => setText(greeting),
      // StrictMode, and a user who goes elsewhere, end the request: nothing is shown.
      (error) => left.signal.aborted || show(error),
    );
    return () => left.abort();
  }, [auth]);

  return (
    <>
      <p role="status">{text}</p>
      <button onClick={() => auth.logout().catch(show)}>Sign out</button>
    </>
  );
}
