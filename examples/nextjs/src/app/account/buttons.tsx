'use client';

import { useState } from 'react';
import { signedIn } from '../../auth-client';

export function Buttons() {
  const [text, setText] = useState('');
  const showError = (error: Error) => setText(error.message);
  const ask = async () => {
    const auth = await signedIn();
    const { greeting } = await auth.request<{ greeting: string }>('GET', '/api/hello');
    setText(greeting);
  };
  const leave = async () => {
    const auth = await signedIn();
    await auth.logout();
    // A new document: the pages of the user are no longer in memory.
    location.assign('/login');
  };
  return (
    <>
      <button onClick={() => ask().catch(showError)}>Ask the API</button>
      <button onClick={() => leave().catch(showError)}>Sign out</button>
      <output>{text}</output>
    </>
  );
}
