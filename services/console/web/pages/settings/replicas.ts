import { sameJson, type SettingsInUse } from '#proto';

export interface Alike {
  /** Of the replicas. */
  readonly names: readonly string[];
  readonly settings: SettingsInUse;
}

/** Replicas that work by the same, together; in the order of their names. */
export function alike(replicas: readonly SettingsInUse[]): Alike[] {
  const groups: { names: string[]; settings: SettingsInUse }[] = [];
  for (const settings of replicas.toSorted((one, other) => one.instance.localeCompare(other.instance))) {
    const same = groups.find((group) => sameJson({ ...group.settings, instance: '' }, { ...settings, instance: '' }));
    if (same === undefined) groups.push({ names: [settings.instance], settings });
    else same.names.push(settings.instance);
  }
  return groups;
}
