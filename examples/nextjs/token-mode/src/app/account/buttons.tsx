'use client';

import { useState } from 'react';
import { signOut } from '../../actions';

export function Buttons() {
  const [text, setText] = useState('');
  const ask = async () => {
    const answer = await fetch('/api/hello');
    setText(answer.ok ? (await answer.json()).greeting : answer.statusText);
  };
  return (
    <>
      <button onClick={ask}>Ask the API</button>
      <form action={signOut}>
        <button>Sign out</button>
      </form>
      <output>{text}</output>
    </>
  );
}
