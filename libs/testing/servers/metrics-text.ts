/** One value of a metric as it is exposed; a histogram has several, under the names of its parts. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a service says of a metric before its values. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
}

/** The text format that Prometheus scrapes, as far as services write it. */
export function samplesOf(text: string): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gmu)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/gu)].map(([, key = '', word = '']) => [key, word])),
    value: Number(value),
  }));
}

export function familiesOf(text: string): Family[] {
  return [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \1 (\w+)$/gmu)].map(([, name = '', help = '', type = '']) => ({
    name,
    help,
    type,
  }));
}

/** The sum of all values with this name and these labels; undefined when there is none. */
export function valueOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels);
  const found = samplesOf(text).filter(
    (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
