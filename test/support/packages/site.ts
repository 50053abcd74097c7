import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT, run } from './package';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.json': 'application/json',
};

/** The documentation site, built into a temporary folder and served by a plain file server that compresses. */
export class BuiltSite {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-site-'));
  private server?: Server;

  /** @param base the folder below which the site is served, as that of a version that is kept: `/v0.1/` */
  constructor(readonly base = '/') {}

  /** Builds as a contributor does. With `isNewApi: false`, the API reference of the previous build is used. */
  build(isNewApi = true): void {
    const values = ['--base', this.base, '--outDir', this.folder];
    if (isNewApi) run('npm', ['run', 'docs:site', '--', ...values], ROOT);
    else run('npx', ['vitepress', 'build', ...values], join(ROOT, 'site'));
  }

  async serve(): Promise<void> {
    this.server = createServer((request, response) => {
      const path = decodeURIComponent(request.url!.split('?')[0]!);
      const file = join(this.folder, path.slice(this.base.length - 1).replace(/\/$/, '/index.html'));
      try {
        if (!path.startsWith(this.base)) throw new Error('outside of the base');
        const body = gzipSync(readFileSync(file));
        response.writeHead(200, { 'Content-Type': TYPES[extname(file)], 'Content-Encoding': 'gzip' }).end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  /** The HTML of each page, by its path on the site. */
  pages(): Map<string, string> {
    const files = readdirSync(this.folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.html'),
    );
    return new Map(files.map((file) => [`${this.base}${file}`, readFileSync(join(this.folder, file), 'utf8')]));
  }

  async remove(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => (this.server ? this.server.close(resolve) : resolve(undefined)));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
