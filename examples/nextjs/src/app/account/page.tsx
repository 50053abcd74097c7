import { read } from '../../api';
import { Buttons } from './buttons';

export default async function Account() {
  const { greeting } = await read<{ greeting: string }>('/api/hello');
  return (
    <main>
      <h1>{greeting}</h1>
      <Buttons />
    </main>
  );
}
