package mincostflow

// A binary heap of entries, the least first. container/heap would box each one.

func heapify(heap []int64) {
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
}

func push(heap []int64, entry int64) []int64 {
	heap = append(heap, entry)
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if heap[parent] <= entry {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = entry
	return heap
}

func pop(heap []int64) []int64 {
	last := len(heap) - 1
	heap[0] = heap[last]
	if last > 1 {
		sink(heap[:last], 0)
	}
	return heap[:last]
}

func sink(heap []int64, i int) {
	entry := heap[i]
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[child] >= entry {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = entry
}
