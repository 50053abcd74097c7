import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from './package';

export const DEPLOY = join(ROOT, 'deploy');

/** A service of the compose file. */
export interface Service {
  image: string;
  command?: string;
  environment: Record<string, string>;
  healthcheck?: { test: string[] };
}

/** The compose file, with its merged keys. */
export const readCompose = (): { services: Record<string, Service> } =>
  parse(readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8'), { merge: true });

/** Replaces `${NAME:?}` and `${NAME:-default}`, as Compose does with the variables of `.env`. */
export const interpolate = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, value: string) => {
    if (!values[name] && kind === '?') throw new Error(`required variable ${name} is missing a value`);
    return values[name] || value;
  });

/** An object of Kubernetes. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: unknown;
}

/** The pod of a workload: of a Deployment, a Job or a CronJob. */
export interface Pod {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: { image: string; args?: string[]; [field: string]: unknown }[];
    securityContext: { runAsNonRoot: boolean };
    [field: string]: unknown;
  };
}

const FOLDER = join(DEPLOY, 'kubernetes');

/** All objects of the manifests. */
export const readManifests = (): Manifest[] =>
  readdirSync(FOLDER).flatMap((file) =>
    parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => document.toJS() as Manifest),
  );

/** The pod that a manifest starts, if it starts one. */
export function podOf({ spec }: Manifest): Pod | undefined {
  const { template, jobTemplate } = (spec ?? {}) as { template?: Pod; jobTemplate?: { spec: { template: Pod } } };
  return template ?? jobTemplate?.spec.template;
}
